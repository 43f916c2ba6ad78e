// Package release is the form of a release of this program: how its files are
// called, how versions are compared, and how the list of checksums is signed and
// checked. What makes a release and what installs one go by it, so that neither
// takes the other's word for anything.
package release
