package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Member says where a daemon can be found. Members' files are hints for joining
// the gossip cluster: unsigned, and nothing is decided by them.
type Member struct {
	Node    string
	Run     string
	Station string
	Addrs   []string // IPv4 addresses, best first
	Port    int      // GOSSIP_PORT
	KMSN    string
	Version string // of the program
	Written string // local time YYYYMMDDHHMMSS
	// Token and OldToken are the fingerprints of RELAY_TOKEN and, while that is
	// being changed, RELAY_TOKEN_OLD: members that cannot talk to each other
	// learn here whose differs. Empty if not told.
	Token, OldToken string
}

var memberFields = []string{"node", "run", "station", "addrs", "port", "kmsn", "version", "written", "token", "token_old"}

// maxAddrs bounds the addresses read from one member's file.
const maxAddrs = 16

// WriteMember replaces this member's file in the chain share. The members'
// folder is made again if somebody removed it; ErrNotExist means that the chain
// is gone.
func (c *Chain) WriteMember(ctx context.Context, share string, m Member) error {
	if !token(m.Node, maxNode) {
		return fmt.Errorf("write member %q: %w: not a node id", m.Node, ErrDenied)
	}
	dir := chainDir + "/" + share + "/" + membersDir
	name := dir + "/" + m.Node + ".json"
	err := c.share.Replace(ctx, name, m.encode())
	if errors.Is(err, ErrNotExist) {
		if err = c.share.Mkdir(ctx, dir); err == nil || errors.Is(err, ErrExists) {
			err = c.share.Replace(ctx, name, m.encode())
		}
	}
	if err != nil {
		return fmt.Errorf("write member %s: %w", m.Node, err)
	}
	return nil
}

func (m Member) encode() []byte {
	var o object
	o.text("node", m.Node)
	o.text("run", m.Run)
	o.text("station", m.Station)
	o.texts("addrs", m.Addrs)
	o.uint("port", uint64(m.Port))
	o.text("kmsn", m.KMSN)
	o.text("version", m.Version)
	o.text("written", m.Written)
	if m.Token != "" {
		o.text("token", m.Token)
	}
	if m.OldToken != "" {
		o.text("token_old", m.OldToken)
	}
	return append(o.b, '}', '\n')
}

// ListMembers returns every member's file that can be read, by node, and a
// remark for each that cannot. Without a members' folder there are none.
func (c *Chain) ListMembers(ctx context.Context, share string) (members []Member, remarks []error, err error) {
	return c.PickMembers(ctx, share, func(nodes []string) []string { return nodes })
}

// PickMembers is ListMembers for those of the nodes listed, in order, that pick
// returns: one listing, and a read for each of them only.
func (c *Chain) PickMembers(ctx context.Context, share string, pick func(nodes []string) []string) (members []Member, remarks []error, err error) {
	dir := chainDir + "/" + share + "/" + membersDir
	names, err := c.share.List(ctx, dir)
	if errors.Is(err, ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list members: %w", err)
	}
	slices.Sort(names)
	var nodes []string
	for _, name := range names {
		if node, ok := strings.CutSuffix(name, ".json"); ok && token(node, maxNode) {
			nodes = append(nodes, node)
		}
	}
	for _, node := range pick(nodes) {
		name := node + ".json"
		m, err := c.readMember(ctx, dir+"/"+name, node)
		switch {
		case errors.Is(err, ErrUnavailable):
			return nil, nil, fmt.Errorf("read member %s: %w", node, err)
		case errors.Is(err, ErrNotExist):
		case err != nil:
			remarks = append(remarks, fmt.Errorf("member file %s: %w", name, err))
		default:
			members = append(members, m)
		}
	}
	return members, remarks, nil
}

func (c *Chain) readMember(ctx context.Context, name, node string) (Member, error) {
	b, err := c.share.Read(ctx, name)
	if err != nil {
		return Member{}, err
	}
	m, err := ParseMember(b)
	if err == nil && m.Node != node {
		return Member{}, fmt.Errorf("it says node %s", m.Node)
	}
	return m, err
}

// ParseMember reads a member's file as tolerantly as ParseView. Only node and
// at least one address are required.
func ParseMember(b []byte) (Member, error) {
	f, _, err := scanLoose(b, memberFields)
	if err != nil {
		return Member{}, err
	}
	rd := &reader{f: f}
	m := Member{Node: rd.printed("node", maxNode), Addrs: rd.texts("addrs")}
	for name, to := range map[string]*string{
		"run": &m.Run, "station": &m.Station, "kmsn": &m.KMSN, "version": &m.Version, "written": &m.Written,
		"token": &m.Token, "token_old": &m.OldToken,
	} {
		if rd.has(name) {
			*to = rd.printed(name, 256)
		}
	}
	if rd.has("port") {
		m.Port = int(rd.loose("port", 0, 65535))
	}
	rd.checkAddrs(m.Addrs)
	if rd.err != nil {
		return Member{}, rd.err
	}
	return m, nil
}

func (r *reader) checkAddrs(addrs []string) {
	if r.err == nil && (len(addrs) == 0 || len(addrs) > maxAddrs) {
		r.fail("addrs", "has %d addresses, expected 1 to %d", len(addrs), maxAddrs)
	}
	for _, a := range addrs {
		if !relayIP(a) {
			r.fail("addrs", "has %q, not an IPv4 address", a)
		}
	}
}
