package vault

import (
	"errors"
	"fmt"
)

// The errors a caller may want to tell apart. No error of this package has a
// value, a key or a passphrase in its text, nor a piece of one.
var (
	// ErrNotFound: no secret has this name in this scope.
	ErrNotFound = errors.New("no such secret")
	// ErrNotGranted: the name is not among those this tool was granted. It
	// does not say whether there is such a secret.
	ErrNotGranted = errors.New("the secret was not granted")
	// ErrKey: the key is missing or is another one. Nothing was changed.
	ErrKey = errors.New("the vault's key is missing or is another one")
	// ErrUnsaid: it is an ErrKey because nobody has said the passphrase yet.
	ErrUnsaid = errors.New("nobody has said the passphrase yet")
	// ErrUnread: it is an ErrKey because the place of the key cannot be read now, as a
	// keyring over ssh. The key may well be there.
	ErrUnread = errors.New("the place of the key cannot be read now")
	// ErrDamaged: the file of secrets was cut or edited, or is no such file.
	ErrDamaged = errors.New("the vault's file is damaged")
	// ErrUnsafe: the store is not as closed to other users as it must be.
	ErrUnsafe = errors.New("the vault's store is not safe")
	// ErrBusy: another process holds the lock.
	ErrBusy = errors.New("the vault is in use by another process")
	// ErrInvalid: a name, scope, value or reference that cannot be.
	ErrInvalid = errors.New("invalid")
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}

func notSafe(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnsafe}, args...)...)
}

// unread is an error in reading the place of a key.
type unread struct{ error }

func (unread) Is(target error) bool { return target == ErrUnread }
func (u unread) Unwrap() error      { return u.error }

func wrongKey(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrKey}, args...)...)
}
