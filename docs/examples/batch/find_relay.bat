@echo off
rem Sets RELAY_IP, RELAY_PORT and RELAY_EPOCH to where the relay of the site is.
rem
rem   call find_relay.bat [path of relay_leader.json]
rem
rem errorlevel 0: found. errorlevel 1: there is no relay now, or the file cannot
rem be read; the variables are then empty. The file is one line that begins with
rem   {"kmsn":"4711","station":"POS-01","ip":"192.168.1.10","port":9530,"pid":77,"epoch":7,
rem so that, cut at , and : the fields 5 and 6 are "ip" and its value, 7 and 8
rem the port, 11 and 12 the epoch, 26 is true once the relay accepts connections.
rem A KMSN or STATION with a comma or colon in it moves the fields: not found.
set "RELAY_IP="
set "RELAY_PORT="
set "RELAY_EPOCH="
setlocal EnableExtensions DisableDelayedExpansion
set "view=%~1"
if not defined view set "view=W:\socket\relay_leader.json"
if not exist "%view%" exit /b 1
set "ip="
set "port="
set "epoch="
for /f "usebackq tokens=5-8,11,12,26 delims=,:}" %%a in ("%view%") do (
  if "%%~a"=="ip" if "%%~c"=="port" if "%%~e"=="epoch" if not "%%g"=="false" (
    set "ip=%%~b"
    set "port=%%d"
    set "epoch=%%f"
    set "all=0%%~b%%d%%f"
  )
)
if not defined ip exit /b 1
rem Whatever else stands there must not become part of a command: a quote is made
rem a letter first, and nothing but digits and dots may be left.
set "all=%all:"=x%"
for /f "delims=0123456789." %%x in ("%all%") do set "ip="
if not defined ip exit /b 1
endlocal & set "RELAY_IP=%ip%" & set "RELAY_PORT=%port%" & set "RELAY_EPOCH=%epoch%"
exit /b 0
