package config

// SystemPath is where stk.ini is looked for last.
const SystemPath = `C:\STK\stk.ini`

func defaultStateDir(env Env) string {
	base, ok := env("ProgramData")
	if !ok || base == "" {
		base = `C:\ProgramData`
	}
	return base + `\floatrelay`
}

func defaultLogFile(env Env) string { return defaultStateDir(env) + `\floatrelay.log` }
