# Installs or upgrades floatrelay on this PC. Run it in a PowerShell opened as
# administrator, from the folder of the unpacked archive:
#
#   powershell -ExecutionPolicy Bypass -File install.ps1 -SiteIni \\nas\deploy\site.ini -Station POS-07
#
# Run again, it upgrades: the lease is handed over, the program replaced, the
# service started. The program before is kept as floatrelay.previous.exe;
# -Rollback puts it back. It ends with 0 if this PC is a member afterwards, else
# with 1.
param(
    [string]$Target = 'C:\STK',
    [string]$SiteIni = '',     # a stk.ini for the whole site, without STATION
    [string]$Station = '',     # this PC; needed with -SiteIni
    [string]$User = '',        # account of the service; empty: LocalSystem
    [string]$Password = '',    # better: the variable FLOATRELAY_SERVICE_PASSWORD
    [switch]$NoFirewall,
    [switch]$NoStart,
    [switch]$Rollback
)
$ErrorActionPreference = 'Stop'

function Fail([string]$text) {
    [Console]::Error.WriteLine("install.ps1: $text")
    exit 1
}

$me = [Security.Principal.WindowsPrincipal][Security.Principal.WindowsIdentity]::GetCurrent()
if (-not $me.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)) {
    Fail 'run it in a PowerShell opened as administrator'
}

# .NET takes relative paths from where the process was started, not from where
# this console is.
function Full([string]$path) {
    $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($path)
}

# Protect lets nobody but the system, the administrators and the service's account
# read stk.ini: it holds the site's secret. icacls does not know ".\" for this PC.
# It is made empty first, so that nobody reads what is written then.
function Protect {
    New-Item -ItemType File -Path $ini | Out-Null
    $grants = @('*S-1-5-18:F', '*S-1-5-32-544:F')
    if ($User -ne '') { $grants += ($User -replace '^\.\\', "$env:COMPUTERNAME\") + ':R' }
    & icacls.exe $ini /inheritance:r /grant $grants | Out-Null
    if ($LASTEXITCODE -ne 0) {
        Remove-Item -LiteralPath $ini -Force
        Fail "the rights of $ini cannot be set: is there an account '$User'?"
    }
}

$here = Split-Path -Parent $MyInvocation.MyCommand.Path
$Target = Full $Target
$exe = Join-Path $Target 'floatrelay.exe'
$previous = Join-Path $Target 'floatrelay.previous.exe'
$ini = Join-Path $Target 'stk.ini'
$fresh = Join-Path $here 'floatrelay.exe'
if ($Rollback) { $fresh = $previous }
if (-not (Test-Path -LiteralPath $fresh)) { Fail "$fresh is not there" }
# A new folder below C:\ could be changed by every user. One that is there belongs
# to other programs, too, and keeps its rights.
if (-not (Test-Path -LiteralPath $Target)) {
    New-Item -ItemType Directory -Force -Path $Target | Out-Null
    & icacls.exe $Target /inheritance:r /grant '*S-1-5-18:(OI)(CI)F' '*S-1-5-32-544:(OI)(CI)F' '*S-1-5-32-545:(OI)(CI)RX' | Out-Null
    if ($LASTEXITCODE -ne 0) { Fail "the rights of $Target cannot be set" }
}

# stk.ini is made once and then left alone. Bytes are copied as they are: the
# file may be in any encoding that floatrelay reads.
if (-not (Test-Path -LiteralPath $ini)) {
    if ($SiteIni -eq '') {
        Protect
        [IO.File]::WriteAllBytes($ini, [IO.File]::ReadAllBytes((Join-Path $here 'stk.ini.template')))
        Fail "fill in $ini, then run this again"
    }
    if ($Station -eq '') { Fail '-SiteIni needs -Station' }
    if ($Station -notmatch '^[\x21-\x7e]+$') { Fail 'write a STATION with other than ASCII characters into stk.ini by hand' }
    $SiteIni = Full $SiteIni
    if (-not (Test-Path -LiteralPath $SiteIni)) { Fail "$SiteIni is not there" }
    $site = [IO.File]::ReadAllBytes($SiteIni)
    if ($site.Length -ge 2 -and (($site[0] -eq 0xFF -and $site[1] -eq 0xFE) -or ($site[0] -eq 0xFE -and $site[1] -eq 0xFF))) {
        Fail "$SiteIni is UTF-16: save it as UTF-8"
    }
    # Latin-1: one character for each byte, whatever the encoding.
    if ([Text.Encoding]::GetEncoding(28591).GetString($site) -match '(?i)(^|[\r\n\x1a])[^!-~]*STATION[^!-~]*=') {
        Fail "$SiteIni has a STATION, which all PCs would get: take that line out"
    }
    $start = 0
    if ($site.Length -ge 3 -and $site[0] -eq 0xEF -and $site[1] -eq 0xBB -and $site[2] -eq 0xBF) { $start = 3 }
    $head = [Text.Encoding]::ASCII.GetBytes("STATION=$Station`r`n")
    $all = New-Object byte[] ($start + $head.Length + $site.Length - $start)
    [Array]::Copy($site, 0, $all, 0, $start)
    [Array]::Copy($head, 0, $all, $start, $head.Length)
    [Array]::Copy($site, $start, $all, $start + $head.Length, $site.Length - $start)
    Protect
    [IO.File]::WriteAllBytes($ini, $all)
}
& $fresh config --check --config $ini
if ($LASTEXITCODE -ne 0) { Fail "correct $ini, then run this again" }

$installed = $null -ne (Get-Service -Name floatrelay -ErrorAction SilentlyContinue)
if ($installed) {
    if (-not (Test-Path -LiteralPath $exe)) { Fail "the service is installed, but not from $Target; name its folder with -Target" }
    & $exe service stop # says so if it is stopped already
    $end = (Get-Date).AddSeconds(30)
    while ((Get-Service floatrelay).Status -ne 'Stopped' -and (Get-Date) -lt $end) { Start-Sleep -Milliseconds 200 }
    if ((Get-Service floatrelay).Status -ne 'Stopped') { Fail 'the service does not stop; nothing was changed' }
}
try {
    if (-not $Rollback -and (Test-Path -LiteralPath $exe)) { Copy-Item -LiteralPath $exe -Destination $previous -Force }
    # The guard of the last run may need a moment to end.
    for ($i = 0; ; $i++) {
        try { Copy-Item -LiteralPath $fresh -Destination $exe -Force; break }
        catch { if ($i -ge 50) { throw }; Start-Sleep -Milliseconds 200 }
    }
    Unblock-File -LiteralPath $exe # it may come from a download
} catch {
    # Whatever is there now goes on.
    if ($installed -and -not $NoStart) { & $exe service start }
    Fail "the program cannot be replaced: $_"
}

if (-not $installed) {
    $words = @('service', 'install', '--config', $ini)
    if (-not $NoFirewall) { $words += '--firewall' }
    if ($Password -ne '') { $env:FLOATRELAY_SERVICE_PASSWORD = $Password }
    if ($User -ne '') { $words += @('--user', $User) }
    & $exe @words
    if ($LASTEXITCODE -ne 0) { Fail 'the service was not installed' }
}
if ($NoStart) { exit 0 }
& $exe service start
if ($LASTEXITCODE -ne 0) { Fail 'the service does not start; see the event log' }
Start-Sleep -Seconds 3
& $exe members --config $ini
if ($LASTEXITCODE -ne 0) { Fail 'the service runs, but does not say that this PC is a member: see floatrelay doctor' }
exit 0
