package main

import "github.com/convertfw/floatrelay/internal/localapi"

const shareID = "6f3a1c52-0b7e-4a55-9a0e-0d8b9f1e2c3d"

// station returns a site of five PCs in several states, one with a Chinese
// name, two of them off.
func station() *site {
	leader := "b/2"
	return &site{
		members: localapi.Members{
			KMSN: testKMSN, Self: "a/1", Leader: leader, Epoch: 42, Rev: 1310,
			Members: []localapi.Member{
				{ID: "e/5", Station: "SERVER", Addr: "192.168.1.5:7946", State: "alive", Role: "ineligible", Epoch: 42,
					Note: "RELAY_PRIORITY is 0", Share: shareID, RTT: 12.4, Version: "v1.2.0"},
				{ID: "a/1", Station: "POS-01", Addr: "192.168.1.11:7946", State: "alive", Role: "client", Epoch: 42,
					Priority: 100, Eligible: true, Share: shareID, Version: "v1.2.0"},
				{ID: "c/3", Station: "功許蓋", Addr: "192.168.1.13:7946", State: "suspect", Role: "client", Epoch: 42,
					Priority: 100, Eligible: true, Share: shareID, RTT: 0.43, Version: "v1.2.0"},
				{ID: "d/4", Station: "POS-04", Addr: "192.168.1.14:7946", State: "dead", Role: "client", Epoch: 40,
					Priority: 50, Share: shareID, Version: "v1.1.0", Note: "last seen 2h ago"},
				{ID: "f/6", State: "left", Note: "last seen 3d ago"},
				{ID: leader, Station: "餐廳-02", Addr: "192.168.1.10:7946", State: "alive", Role: "leader", Epoch: 42,
					Priority: 100, Eligible: true, Share: shareID, RTT: 0.3, Version: "v1.2.0"},
				{ID: "g/7", Station: "EVIL\x1b[2J\n", Addr: "192.168.1.66:7946", State: "alive", Role: "client",
					Priority: 1, Note: "\u202etxet\u0007", Share: "0", Version: "v\x00"},
			},
		},
		leader: &localapi.Leader{KMSN: testKMSN, Station: "餐廳-02", IP: "192.168.1.10", Port: 9530,
			Epoch: 42, Rev: 1310, LeaseUntil: "20260115123010", Ready: true},
		status: localapi.Status{
			Role: "client", Epoch: 42, Rev: 1310, Eligible: true, Leader: leader,
			Relay:  localapi.RelayStatus{State: "none", Since: "2026-01-15T08:00:00+08:00"},
			Share:  localapi.ShareStatus{Path: `\\server\share\socket`, ID: shareID, State: "ok", LastOKMS: 1350},
			Gossip: localapi.GossipStatus{Alive: 4},
			Token:  "3f2a91bc",
		},
	}
}

// leading is the same site seen from its leader, in bad weather.
func leading() *site {
	s := station()
	s.members.Self = s.members.Leader
	s.status.Role = "leader"
	s.status.Note = "the share answers slowly"
	s.status.Relay = localapi.RelayStatus{State: "running", PID: 4711, Restarts: 2, Since: "2026-01-15T12:00:00+08:00"}
	s.status.Fence = localapi.FenceStatus{LeftMS: 1210, By: "vouches"}
	s.status.Share = localapi.ShareStatus{Path: `W:\socket`, ID: shareID, State: "no answer", LastOKMS: 61_000, CreateMS: 48}
	s.status.Gossip.Health = 2
	return s
}

// alone is a daemon that knows nothing yet.
func alone() *site {
	return &site{
		members: localapi.Members{KMSN: testKMSN, Self: "a/1", Members: []localapi.Member{
			{ID: "a/1", Station: "POS-01", State: "alive", Role: "ineligible", Note: "share unavailable"},
		}},
		status: localapi.Status{Role: "ineligible", Note: "share unavailable: not visible for this account, use \\\\server\\share",
			Relay: localapi.RelayStatus{State: "none"},
			Share: localapi.ShareStatus{Path: `W:\socket`, State: "unavailable", LastOKMS: -1}, Gossip: localapi.GossipStatus{Alive: 1}},
	}
}
