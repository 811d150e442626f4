# Removes floatrelay from this PC: the lease is handed over, the service removed,
# the firewall closed. stk.ini stays; -Purge removes it and what floatrelay
# remembers (its identity, its log). Run it in a PowerShell opened as
# administrator.
param(
    [string]$Target = 'C:\STK',
    [switch]$Purge
)
$ErrorActionPreference = 'Stop'
$me = [Security.Principal.WindowsPrincipal][Security.Principal.WindowsIdentity]::GetCurrent()
if (-not $me.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)) {
    [Console]::Error.WriteLine('uninstall.ps1: run it in a PowerShell opened as administrator')
    exit 1
}
$exe = Join-Path $Target 'floatrelay.exe'
$ini = Join-Path $Target 'stk.ini'
if (-not (Test-Path -LiteralPath $exe)) {
    [Console]::Error.WriteLine("uninstall.ps1: $exe is not there")
    exit 1
}
# Asked before the program is gone. What it prints is UTF-8.
$state = Join-Path $env:ProgramData 'floatrelay'
if ($Purge) {
    [Console]::OutputEncoding = [Text.Encoding]::UTF8
    $shown = (& $exe config --json --config $ini) -join '' | ConvertFrom-Json
    $value = $shown.values | Where-Object { $_.key -eq 'STATE_DIR' }
    if ($value.value) { $state = $value.value }
}
if ($null -ne (Get-Service -Name floatrelay -ErrorAction SilentlyContinue)) {
    & $exe service uninstall
    if ($LASTEXITCODE -ne 0) { exit 1 }
}
& $exe firewall --remove --apply --config $ini # says so if there are no rules
for ($i = 0; ; $i++) { # the guard may need a moment to end
    try { Remove-Item -LiteralPath $exe -Force; break }
    catch { if ($i -ge 50) { throw }; Start-Sleep -Milliseconds 200 }
}
Remove-Item -LiteralPath (Join-Path $Target 'floatrelay.previous.exe') -Force -ErrorAction SilentlyContinue
if ($Purge) {
    Remove-Item -LiteralPath $ini -Force -ErrorAction SilentlyContinue
    # By name: STATE_DIR may be a folder that holds other things too.
    foreach ($name in @('node', 'state.json*', 'members.json*', 'relay.json*', 'history.ndjson*', 'daemon.lock', 'daemon.pid', 'guard.lock', 'node.new', 'floatrelay*.log*')) {
        Remove-Item -Path (Join-Path ([Management.Automation.WildcardPattern]::Escape($state)) $name) -Force -ErrorAction SilentlyContinue
    }
    if (-not (Get-ChildItem -LiteralPath $state -Force -ErrorAction SilentlyContinue)) {
        Remove-Item -LiteralPath $state -Force -ErrorAction SilentlyContinue
    }
}
exit 0
