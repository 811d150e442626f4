// Package sharetest is the contract of lease.Share as a test suite. Every
// backend runs it: what the protocol needs from a share is written down here
// once, above all that of several exclusive creates exactly one wins.
//
// It does not prove that a server keeps its promises under load or after a
// power loss; it shows that the backend asks for the right thing and reports
// the answer truly.
package sharetest
