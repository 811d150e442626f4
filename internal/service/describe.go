package service

// Description is what Install would make known to the service manager.
type Description struct {
	Name     string   `json:"service"`
	Account  string   `json:"account"`
	Command  []string `json:"command"` // as words, not quoted
	UnitPath string   `json:"unit_path,omitempty"`
	Unit     string   `json:"unit,omitempty"` // the text of that file; systemd only

	text string
}

// String is the description for people.
func (d Description) String() string { return d.text }

// describe fills in what every system has; root is the account of a plan that
// names none.
func describe(p Plan, root string) Description {
	d := Description{Name: Name, Account: p.User, Command: append([]string{p.Exe}, p.args()...)}
	if d.Account == "" {
		d.Account = root
	}
	return d
}
