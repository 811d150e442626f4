package arbiter

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the expected output of the scenario scripts")

// TestScenarios plays testdata/*.txt. A line that is not indented is a command,
// `#` begins a remark; the indented lines below a command are what the machine
// did from then on, each with its time since the begin. `go test -update`
// rewrites them. The commands are those of (*script).play.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 10)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			got := playAll(t, string(want))
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(want), got)
		})
	}
}

// script is a scenario being played.
type script struct {
	*rig
	show  map[string]bool
	shown int // how many actions have been printed
	num   uint64
}

// playAll returns the script with the expected output filled in.
func playAll(t *testing.T, text string) string {
	s := &script{show: map[string]bool{}}
	opts := []func(*Config){}
	var out strings.Builder
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if strings.HasPrefix(line, "  ") {
			continue
		}
		fmt.Fprintln(&out, line)
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if words[0] == "config" {
			opts = append(opts, configOption(t, words[1:]))
			continue
		}
		if s.rig == nil {
			s.rig = newRig(t, opts...)
		}
		require.NoError(t, s.play(words), "line %d: %s", n, line)
		s.print(&out)
	}
	return out.String()
}

func configOption(t *testing.T, words []string) func(*Config) {
	key, value, _ := strings.Cut(words[0], "=")
	return func(c *Config) {
		d, err := time.ParseDuration(value)
		n, _ := strconv.ParseUint(value, 10, 64)
		switch key {
		case "fence":
			require.NoError(t, err)
			c.Fence = d
		case "ttl":
			require.NoError(t, err)
			c.TTL = d
		case "priority":
			c.Priority = int(n)
		case "floor":
			c.FloorRev, c.FloorEpoch = n, n
		default:
			require.Failf(t, "unknown config", "%s", key)
		}
	}
}

// print writes what happened since the last command.
func (s *script) print(out *strings.Builder) {
	for _, x := range s.all[s.shown:] {
		if s.visible(x.a) {
			fmt.Fprintf(out, "  %8s  %s\n", clockText(x.at), brief(s.codec, x.a))
		}
	}
	s.shown = len(s.all)
}

// visible hides what every tick is full of, unless it is asked for.
func (s *script) visible(a Action) bool {
	switch a.(type) {
	case List, Read:
		return s.show["reads"]
	case SendBeat:
		return s.show["beats"]
	case SetUntil:
		return s.show["until"]
	case SetWill, Publish:
		return s.show["will"]
	case Report:
		return s.show["reports"]
	}
	return true
}

// play carries out one command:
//
//	config KEY=VALUE               before anything else
//	at 1.5s [COMMAND…]             let time pass until then, with ticks
//	run 2s / sleep 2s              let time pass with ticks / without
//	show beats|reads|until|will|reports
//	auto|manual lists|creates|views|guards|relays
//	vouching [B C]                 who answers beats
//	members [B C] [D=low|noshare|clone|ineligible|preempt]
//	record RECORD                  lies on the share
//	share NAME|none                what the share holds from now on
//	garbage REV                    an unreadable record
//	clear                          no tree of an earlier run is left
//	created OUTCOME | apply        how the create ended | it took effect unseen
//	beat RECORD | head RECORD      a message of the record's owner
//	acked | ready | down CAUSE     the guard's and the relay's answers
//	gone B | note TEXT | handoff [B] | stop
//
// RECORD is: from B rev 7 epoch 3 [roster A,C] [released [to A]] [share 9].
func (s *script) play(w []string) error {
	args := w[1:]
	switch w[0] {
	case "at", "run", "sleep":
		return s.time(w[0], args)
	case "show":
		s.show[args[0]] = true
	case "auto", "manual":
		return s.world(args, w[0] == "auto")
	case "vouching":
		s.vouching = ids(args)
	case "members":
		s.members(rows(args)...)
	case "record":
		s.put(s.parse(args))
	case "share":
		s.share = strings.TrimSuffix(args[0], "none")
		s.chain = map[uint64][]byte{}
	case "garbage":
		rev, err := strconv.ParseUint(args[0], 10, 64)
		s.chain[rev], s.share = nil, share
		return err
	case "beat":
		s.num++
		s.hear(s.parse(args), s.num)
	case "head":
		e := s.parse(args)
		s.do(HeadReceived{From: e.Record.Owner, Entry: e})
	default:
		return s.event(w[0], args)
	}
	return nil
}

func (s *script) event(word string, args []string) error {
	switch word {
	case "clear":
		s.do(TreeClear{})
	case "created":
		return s.ended(args[0])
	case "apply":
		s.apply()
	case "acked":
		s.do(GuardAcked{Gen: s.gen, Seq: s.seq})
	case "ready":
		s.do(RelayReady{Gen: s.gen, PID: 4000})
	case "down":
		return s.down(args[0])
	case "gone":
		s.do(LeaderGone{ID: byLetter[args[0]]})
	case "note":
		s.do(Eligibility{Reasons: []reason.Reason{reason.Text(strings.Join(args, " "))}})
	case "handoff":
		s.do(Handoff{To: first(ids(args)), Reason: "asked"})
	case "stop":
		s.do(Handoff{Reason: "stopping", Final: true})
	default:
		return fmt.Errorf("unknown command %q", word)
	}
	return nil
}

func (s *script) time(word string, args []string) error {
	d, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	switch word {
	case "at":
		s.run(zero + d)
	case "run":
		s.pass(d)
	case "sleep":
		s.jump(d)
	}
	if len(args) > 1 {
		return s.play(args[1:])
	}
	return nil
}

func (s *script) world(what []string, on bool) error {
	for _, x := range what {
		switch x {
		case "lists":
			s.lists = on
			if on && s.reading != nil {
				s.do(s.look())
			}
		case "creates":
			s.creates = on
			if on && s.creating != nil {
				s.do(s.carryOut())
			}
		case "views":
			s.views = on
		case "guards":
			s.guards = on
		case "relays":
			s.relays = on
		default:
			return fmt.Errorf("unknown part of the world %q", x)
		}
	}
	return nil
}

func (s *script) ended(name string) error {
	for o := OK; o <= Uncertain; o++ {
		if o.String() == name {
			s.created(o)
			return nil
		}
	}
	return fmt.Errorf("unknown outcome %q", name)
}

func (s *script) down(name string) error {
	for c := DownStopped; c <= DownGuard; c++ {
		if c.String() == name {
			s.do(RelayDown{Gen: s.gen, Cause: c, Note: "exit 1"})
			return nil
		}
	}
	return fmt.Errorf("unknown cause %q", name)
}

// parse reads a RECORD.
func (s *script) parse(w []string) lease.Entry {
	var owner lease.ID
	var nums [2]uint64
	var opts []func(*lease.Record)
	for i := 0; i < len(w); i++ {
		arg := ""
		if i+1 < len(w) {
			arg = w[i+1]
		}
		switch w[i] {
		case "from":
			owner = byLetter[arg]
		case "rev":
			nums[0], _ = strconv.ParseUint(arg, 10, 64)
		case "epoch":
			nums[1], _ = strconv.ParseUint(arg, 10, 64)
		case "roster":
			opts = append(opts, roster(ids(strings.Split(arg, ","))...))
		case "released":
			opts = append(opts, released(lease.ID{}))
		case "to":
			opts = append(opts, released(byLetter[arg]))
		case "share":
			opts = append(opts, onShare(arg))
		}
	}
	return s.entry(nums[0], nums[1], owner, opts...)
}

func ids(names []string) []lease.ID {
	var out []lease.ID
	for _, n := range names {
		out = append(out, byLetter[n])
	}
	return out
}

func first(ids []lease.ID) lease.ID {
	if len(ids) == 0 {
		return lease.ID{}
	}
	return ids[0]
}

// rows reads members: B, or B=preempt and the like.
func rows(names []string) []Member {
	var out []Member
	for _, n := range names {
		name, kind, _ := strings.Cut(n, "=")
		m := alive(byLetter[name])
		switch kind {
		case "noshare":
			m.Share, m.Eligible = "", false
		case "low":
			m.Share = "1"
		case "clone":
			m.ID = lease.ID{Node: idA.Node, Run: "a9"}
		case "ineligible":
			m.Eligible = false
		case "preempt":
			m.Priority, m.Preempt = 200, true
		}
		out = append(out, m)
	}
	return out
}
