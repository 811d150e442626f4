package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// maxFile bounds what is read: a stk.ini is a few kilobytes, and a path that
// names something else should not fill the memory.
const maxFile = 256 << 10

// maxWarnings bounds the list for files that are not stk.ini files at all.
const maxWarnings = 200

// Load reads, decodes, merges and checks the file at path, with overrides from
// the environment (nil: none).
//
// On a bad value or a damaged file the error is a Problems with one Error per
// finding, and Loaded still holds the values and warnings, for people; its
// Config is then zero. When the file cannot be read at all, Loaded is nil and
// the Problems hold one Error. On a share that hangs Load hangs as well: callers
// who must not wait run it beside what they wait for.
func Load(path string, env Env) (*Loaded, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("resolve the path of stk.ini %q: %w", path, err)
	}
	data, unread := readFile(abs)
	if unread != nil {
		return nil, Problems{unread}
	}
	return Parse(abs, data, env)
}

// Parse is Load for the content of a file already read; path only names it.
func Parse(path string, data []byte, env Env) (*Loaded, error) {
	osEnv := env
	if env == nil {
		osEnv, env = os.LookupEnv, func(string) (string, bool) { return "", false }
	}
	d, bad := decode(data)
	if bad != "" {
		return &Loaded{}, Problems{damaged(path, 0, bad)}
	}
	if line := mixedLine(data, d.encoding); line > 0 {
		return &Loaded{Encoding: d.encoding}, Problems{{File: path, Line: line, err: ErrDamaged,
			Cause: "from here on the file is not " + d.encoding + ", as the lines above are",
			Want:  "save the whole file as UTF-8"}}
	}
	s, broken := scan(path, d)
	if broken != nil {
		return &Loaded{Encoding: d.encoding, Warnings: tidy(s.warnings, path)}, Problems{broken}
	}
	st, err := build(s.entries)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	s.guessed = strings.HasPrefix(d.encoding, "cp950")
	r := &resolver{path: path, env: env, osEnv: osEnv, scanner: s, store: st, from: map[string]source{}}
	r.config.Path = path
	for _, k := range keys {
		r.resolve(k)
	}
	r.relations()
	r.advise()
	l := &Loaded{Values: r.values, Warnings: tidy(s.warnings, path), Encoding: d.encoding}
	if len(r.problems) > 0 {
		return l, r.problems
	}
	l.Config = r.config
	return l, nil
}

// tidy sorts warnings by line, keeps one of each, and bounds their number.
func tidy(all []Warning, path string) []Warning {
	sort.SliceStable(all, func(i, j int) bool { return all[i].Line < all[j].Line })
	all = slices.Compact(all)
	if len(all) > maxWarnings {
		more := len(all) - maxWarnings
		all = append(all[:maxWarnings:maxWarnings], Warning{File: path, Text: fmt.Sprintf("%d more warnings", more)})
	}
	return all
}

// FromEnvironment is the Origin of a Value that an override gave.
const FromEnvironment = "environment"

// source says where a value came from.
type source struct {
	line   int    // of the file, or 0
	env    bool   // from the environment
	text   string // canonical, or "" while the key is unset or refused
	failed bool
}

func (s source) origin(file string) string {
	switch {
	case s.env:
		return FromEnvironment
	case s.line > 0:
		return fmt.Sprintf("%s:%d", filepath.Base(file), s.line)
	}
	return "default"
}

// resolver turns the merged pairs into a Config and collects the problems.
type resolver struct {
	path     string
	env      Env // overrides
	osEnv    Env // what the defaults of the system depend on
	scanner  *scanner
	store    *store
	config   Config
	from     map[string]source
	values   []Value
	problems Problems
}

func (r *resolver) resolve(k *Key) {
	text, src := r.pick(k)
	shown := ""
	switch {
	case text == "" && k.Required:
		src.failed = true
		line := r.scanner.alien[k.Name]
		src.line = line
		r.fail(k, src, "", errors.New("is missing"))
		if line > 0 {
			r.problems[len(r.problems)-1].Want = "begin this line with " + k.Name + "="
		}
	case text == "":
		src = source{}
	default:
		canon, err := k.set(&r.config, text)
		if shown = canon; err != nil {
			src.failed = true
			r.fail(k, src, text, err)
			shown = hidden(k, text)
		}
		src.text = canon
	}
	r.from[k.Name] = src
	r.values = append(r.values, Value{Key: k.Name, Text: shown, Origin: src.origin(r.path), Secret: k.Secret})
}

// pick returns the text of a key and its source: environment, file, default.
// An empty variable or value counts as not set.
func (r *resolver) pick(k *Key) (string, source) {
	bare := func(v string) string {
		if k.Plain {
			return cutComment(v)
		}
		return v
	}
	if v, ok := r.env(EnvPrefix + k.Name); ok && bare(v) != "" {
		return bare(v), source{env: true}
	}
	if v, line := r.store.find(k.Name); bare(v) != "" {
		return bare(v), source{line: line}
	}
	if k.osDefault != nil {
		return k.osDefault(r.osEnv), source{}
	}
	return k.Default, source{}
}

// hidden returns the refused text for people, unless it is or holds a secret.
func hidden(k *Key, text string) string {
	if k.Secret || holdsPassword(text) {
		return ""
	}
	return text
}

func (r *resolver) fail(k *Key, src source, text string, cause error) {
	e := &Error{File: r.path, Line: src.line, Key: k.Name, Value: hidden(k, text), Cause: cause.Error(), Want: k.Allowed}
	if src.env {
		e.File, e.Key = "environment", EnvPrefix+k.Name
	}
	r.problems = append(r.problems, e)
}
