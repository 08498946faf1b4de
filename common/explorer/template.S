/* The assembled page inside the program, so that it can be moved and still write one. -DBEFORE= -DAFTER= name its parts. */
	.section .rodata
	.globl explorer_template, explorer_template_data, explorer_template_end
explorer_template:
	.incbin BEFORE
explorer_template_data:
	.incbin AFTER
explorer_template_end:
	.byte 0
	.section .note.GNU-stack, "", %progbits
