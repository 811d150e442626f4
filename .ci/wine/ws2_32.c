/* ws2_32.dll for wine, in front of wine's own: everything is handed on to that
 * (see .ci/wine/sockets), and the one request that wine 8 does not know is
 * answered as Windows answers it. SIO_UDP_NETRESET only silences an error report,
 * but a Go program takes its refusal for a failed listen. For tests only. */
#include <winsock2.h>
#include <windows.h>

#define UDP_NETRESET 0x9800000F

typedef int(WINAPI *ioctl)(SOCKET, DWORD, LPVOID, DWORD, LPVOID, DWORD, LPDWORD, LPWSAOVERLAPPED,
                           LPWSAOVERLAPPED_COMPLETION_ROUTINE);

int WINAPI ioctl_or_netreset(SOCKET s, DWORD code, LPVOID in, DWORD inlen, LPVOID out, DWORD outlen, LPDWORD got,
                             LPWSAOVERLAPPED over, LPWSAOVERLAPPED_COMPLETION_ROUTINE done) {
  static ioctl next;
  if (code == UDP_NETRESET) {
    if (got)
      *got = 0;
    return 0;
  }
  if (!next)
    next = (ioctl)(void *)GetProcAddress(LoadLibraryW(L"ws2_wine.dll"), "WSAIoctl");
  return next(s, code, in, inlen, out, outlen, got, over, done);
}
