@echo off
rem Starts an Agent program with the address of the relay, and again whenever
rem the relay has moved or the program has ended.
rem
rem   follow_relay.bat C:\STK\agent.exe [path of relay_leader.json]
setlocal EnableExtensions DisableDelayedExpansion
set "agent=%~1"
set "image=%~nx1"
if not defined agent (
  echo usage: %~nx0 PROGRAM [path of relay_leader.json]
  exit /b 2
)
set "running="

:look
call "%~dp0find_relay.bat" "%~2"
rem Nothing known: the program goes on with what it has.
if errorlevel 1 goto pause
if not defined running goto start
rem A lower epoch is an old copy of the file.
if %RELAY_EPOCH% GTR %running% goto start
tasklist /fi "imagename eq %image%" 2>nul | find /i "%image%" >nul
if not errorlevel 1 goto pause

:start
if defined running taskkill /f /im "%image%" >nul 2>&1
echo %date% %time% relay %RELAY_IP%:%RELAY_PORT%, epoch %RELAY_EPOCH%
start "" "%agent%" %RELAY_IP% %RELAY_PORT%
set "running=%RELAY_EPOCH%"

:pause
ping -n 2 127.0.0.1 >nul
goto look
