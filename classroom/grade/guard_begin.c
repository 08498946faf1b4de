/* Linked before the submission: its variables lie between these and the ones of guard_end.c. */
char guard_data_first[16] = {1};
char guard_bss_first[16];
