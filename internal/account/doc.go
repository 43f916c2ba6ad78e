// Package account tells people what was done: a line, a page, counts and small
// charts of the records of a journal.
//
// The command line imports it. It reads records that somebody gives it, opens
// nothing, and shows no character that a terminal would obey.
package account
