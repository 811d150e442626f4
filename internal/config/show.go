package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
)

// Fingerprint returns the first eight hex digits of a hash of a site's KMSN and
// the secret, so that two PCs of the site can be compared by eye. It returns
// "none" for an empty secret. Who sees it can test guesses against it, for this
// site alone: it does not protect a weak secret.
func Fingerprint(kmsn, secret string) string {
	if secret == "" {
		return "none"
	}
	sum := sha256.Sum256([]byte("floatrelay fingerprint v2\x00" + kmsn + "\x00" + secret))
	return hex.EncodeToString(sum[:4])
}

// Effective writes every key with its value and origin as a table.
func (l *Loaded) Effective(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "KEY\tVALUE\tORIGIN")
	for _, v := range l.Values {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", v.Key, v.shown(), v.Origin)
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write the settings: %w", err)
	}
	return nil
}

func (v Value) shown() string {
	switch {
	case v.Text == "":
		return "-"
	case v.Secret:
		return "(fingerprint " + v.Text + ")"
	}
	return printable(v.Text)
}

// WriteCheck writes the verdict of "config --check" on what Load returned:
// errors first, then warnings, then what other programs would read from the
// same lines. It returns how many errors there were.
func WriteCheck(w io.Writer, l *Loaded, err error) int {
	var problems Problems
	errs := 0
	switch {
	case errors.As(err, &problems):
		errs = len(problems)
		for _, p := range problems {
			fmt.Fprintf(w, "error    %s\n", p)
		}
	case err != nil:
		errs = 1
		fmt.Fprintf(w, "error    %s\n", err)
	}
	if l == nil {
		l = &Loaded{}
	}
	own, foreign := split(l.Warnings)
	for _, x := range own {
		fmt.Fprintf(w, "warning  %s\n", x)
	}
	for _, x := range foreign {
		fmt.Fprintf(w, "differs  %s\n", x)
	}
	fmt.Fprintf(w, "%s, %s, %s that other programs may read differently",
		count(errs, "error"), count(len(own), "warning"), count(len(foreign), "line"))
	if l.Encoding != "" {
		fmt.Fprintf(w, " (%s)", l.Encoding)
	}
	fmt.Fprintln(w)
	return errs
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// split parts the warnings about this program from those about others.
func split(all []Warning) (own, foreign []Warning) {
	for _, w := range all {
		if w.Foreign {
			foreign = append(foreign, w)
		} else {
			own = append(own, w)
		}
	}
	return own, foreign
}
