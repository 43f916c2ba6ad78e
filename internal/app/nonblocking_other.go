//go:build !unix

package app

// nonBlocking is nothing here: there are no pipes among the files.
const nonBlocking = 0
