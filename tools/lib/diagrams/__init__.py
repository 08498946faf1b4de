"""What tools/diagrams draws: SVG from the trace of a run (run.py), never by hand. svg.py: themes, elements."""
