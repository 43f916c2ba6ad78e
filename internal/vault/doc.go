// Package vault keeps secrets: by name and scope, encrypted at rest, with the
// key elsewhere.
//
// It is for the wiring and the command line, which hand its functions to those
// who need one: Granted is the Secret handle of a tool, Values feeds the
// redactor, Expand resolves references in settings. Nothing else imports it,
// and it alone imports age and the keyring library.
//
// The invariant: a store that cannot be read with the key at hand is never
// written, and whoever reads it at whatever moment, after whatever crash, gets
// what was there before a change or what is there after it, whole.
//
// # The store
//
// One directory, closed to others (0700), with one file of secrets (0600) and a
// lock. The file is two lines of text, a version and which key it wants, and an
// age ciphertext of everything else; names and scopes are as hidden as values.
// Inside is a tag over the whole that only the holder of the private key can
// make: knowing the public half is not enough to forge a store. A file that is
// cut, edited, a link, of another owner or open to other users is refused, and
// so is a directory. What cannot be noticed is an older store of the same key
// put back in place: for that the vault would need a memory outside the store.
//
// Every write is a new file beside the old one, flushed, then renamed over it,
// then the directory flushed, all under a lock that other processes respect.
// Readers need no lock: they look at the file each time, and decrypt it again
// only if its bytes changed.
//
// # Keys
//
// Keys says where a key is: in the keyring of the operating system, in an
// environment variable, behind a command, in the head of a person, or, where
// there is no keyring and a person chose so, in a file. A text
// that begins with AGE-SECRET-KEY- is a key; any other is a passphrase, and the
// store then holds a random key encrypted with it by scrypt. FromFiles alone
// writes a key to a file in the clear, in a directory of its own.
//
// # Scopes
//
// A secret belongs to an organisation, perhaps to one subject in it, perhaps to
// one tool or server. A lookup sees the secrets of its own organisation and
// those of Everyone, and takes the narrowest; Scope has the order.
package vault
