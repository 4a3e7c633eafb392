# SPDX-License-Identifier: GPL-2.0
#
# Mutants that are the same program, as run-mutants names them, each with the reason:
# no test can tell them from the source as it is.
kernel/trace/ring_buffer/resize.c: rb_renumber: sb->seq = seq; => ;
	Only that of the sub-buffer being written or committed is read, and no writer comes
	to this one before rb_open_subbuf() has stored the next.
