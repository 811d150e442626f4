// Package smb is the lease.Share on a file server reached directly by SMB 2 or
// 3: smb://[domain;]user@host[:port]/share/folder.
//
// It needs no mount and no drive letter, which a service does not have, and it
// goes around the client's cache: what it says of a file, the server said just
// now. Requests are signed, oplocks and leases are never asked for, and an
// exclusive create is one request with disposition FILE_CREATE whose body is
// written and flushed through the handle it returned.
//
// Every call has a connection of its own while it lasts, kept for the next call
// afterwards. So a call the server does not answer holds up no other, and one
// that is given up keeps or takes along its connection: nothing that was sent
// can be answered to somebody else later.
//
// A create is seen through: given up by its caller, it may go on for some
// seconds, one at a time, so that the name does not stay without its body.
//
// Below the folder no link is followed, as far as the server tells of links by an
// attribute; each folder on the way is asked for it first. Samba follows links
// inside its share itself and does not tell.
//
// What it does not guarantee: a connection that breaks after a request was sent
// leaves the outcome open (lease.ErrUnknown), as does a deadline. The protocol
// library always lets a rename replace a file. Move therefore looks first, and
// moves only a folder with something in it: servers refuse to put one over a
// file or over a folder that is not empty, so of several moves one still wins;
// only an empty folder that appeared meanwhile may be replaced. DFS referrals
// and Kerberos are not spoken: name the server itself and a user with a
// password.
package smb
