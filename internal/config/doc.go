// Package config reads stk.ini, the settings file floatrelay shares with
// twenty-year-old programs, and says in plain words what is wrong with it.
//
// The way of a value: bytes are decoded (UTF-8, UTF-16 or cp950), the text is
// split into lines by a scanner that keeps every value literal and remembers
// its line, the pairs are kept in an ini.v1 file, the winner of each key is
// looked up ([RELAY], then the top of the file, then the other sections),
// FLOATRELAY_<KEY> overrides it, and the table in keys.go parses it. The same
// table makes the template, the error texts and docs/configuration.md.
//
// A damaged file or a value out of range is an error, never a default. Secrets
// appear in no error, warning or listing; only their fingerprints do.
//
// What it does not do: it never writes stk.ini, and it does not look whether
// the folders, programs and addresses it names exist.
package config
