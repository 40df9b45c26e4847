/* Replaces the compiler's library for unwinding in `tenter`: a panic aborts in packages, and they have no tables for it (unwinding.ld). That
   library would be loaded by each start of a program, or as a part of the program need glibc 2.35, and it aborts where it finds no tables.
   A backtrace is empty; nothing calls the other functions. */
int _Unwind_Backtrace(void *visit, void *argument) { return 5; /* the end of the stack */ }

void _Unwind_FindEnclosingFunction(void) { __builtin_trap(); }
void _Unwind_GetCFA(void) { __builtin_trap(); }
void _Unwind_GetDataRelBase(void) { __builtin_trap(); }
void _Unwind_GetIP(void) { __builtin_trap(); }
void _Unwind_GetIPInfo(void) { __builtin_trap(); }
void _Unwind_GetLanguageSpecificData(void) { __builtin_trap(); }
void _Unwind_GetRegionStart(void) { __builtin_trap(); }
void _Unwind_GetTextRelBase(void) { __builtin_trap(); }
void _Unwind_Resume(void) { __builtin_trap(); }
void _Unwind_SetGR(void) { __builtin_trap(); }
void _Unwind_SetIP(void) { __builtin_trap(); }
