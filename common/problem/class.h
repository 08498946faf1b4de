/*
 * The variant of each chapter, {"05_fa2", {VARIANT_WINDOW, 9}}, ...; a chapter that is not listed is plain. The
 * course lists none. A class's hand-out has this file written for it, with the lines of class.tsv.
 */
#ifndef PROBLEM_CLASS_H
#define PROBLEM_CLASS_H

#define CLASS_VARIANTS                                                                                               \
	{                                                                                                            \
		NULL,                                                                                                \
		{                                                                                                    \
			VARIANT_PLAIN, 0                                                                             \
		}                                                                                                    \
	}

#endif
