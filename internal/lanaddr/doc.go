// Package lanaddr chooses the IPv4 address that the other PCs are told.
//
// Choose is pure: facts of a PC (its cards, what the system would use towards
// the members and the share, the settings) → an address and why, or a reason.
// Find asks the system for the facts. Facts.String prints them in the form that
// the table of real PCs in the tests is written in, so that what doctor prints
// on a customer's PC becomes a row of it.
//
// It knows IPv4 only, and it sends nothing: routes are asked of the system.
package lanaddr
