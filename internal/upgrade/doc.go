// Package upgrade puts a newer release of this program in the place of the one
// that runs. Where the files come from is trusted with nothing: the list of
// checksums must be signed with the key that is built in, the archive must have
// the checksum that the list says, and the version is the one in the signed list.
// At every moment the program's file is the old one or the new one, whole.
package upgrade
