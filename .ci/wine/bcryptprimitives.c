/* bcryptprimitives.dll for wine, which lacks it: the one function that Go's
 * run time takes its random numbers from. For tests only. */
#include <windows.h>

BOOLEAN WINAPI SystemFunction036(PVOID, ULONG); /* RtlGenRandom */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE p, SIZE_T n) { return SystemFunction036(p, (ULONG)n); }
