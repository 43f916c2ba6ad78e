package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/toolcrib/toolcrib/internal/release"
)

// The key comes from the surroundings of the release and never from the source.
const (
	keyVariable     = "TOOLCRIB_RELEASE_KEY"
	keyFileVariable = "TOOLCRIB_RELEASE_KEY_FILE"
)

// secretKey reads the key that signs. Nil: there is none. One that the program would
// not trust is an error: nobody could upgrade to what it signed.
func secretKey(getenv func(string) string) (*release.Secret, error) {
	text := []byte(getenv(keyVariable))
	if name := getenv(keyFileVariable); name != "" {
		if len(text) > 0 {
			return nil, fmt.Errorf("both %s and %s are set: want one", keyVariable, keyFileVariable)
		}
		var err error
		if text, err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	if len(text) == 0 {
		return nil, nil
	}
	secret, err := release.ParseSecret(text)
	if err != nil {
		return nil, err
	}
	trusted, err := release.Trusted()
	if err != nil {
		return nil, err
	}
	if !secret.Public().Equal(trusted) {
		return nil, errors.New("the key that signs does not belong to internal/release/toolcrib.pub, which is built into the program")
	}
	return &secret, nil
}

// sign writes the checksums, and their signatures if there is a key.
func (r *making) sign(secret *release.Secret) error {
	text := r.sums.Text()
	if err := os.WriteFile(filepath.Join(r.out, release.SumsFile), text, 0o644); err != nil { // everybody may read it
		return err
	}
	if secret == nil {
		r.say("UNSIGNED: neither %s nor %s is set. 'toolcrib upgrade' and install.sh refuse this release.", keyVariable, keyFileVariable)
		return nil
	}
	signature, err := release.Sign(*secret, text, "toolcrib "+r.src.version.String())
	if err != nil {
		return err
	}
	if _, err := release.Verify(secret.Public(), text, signature); err != nil {
		return err
	}
	r.say("signed with the key %s", secret.Public().Text())
	return errors.Join(
		os.WriteFile(filepath.Join(r.out, release.SignatureFile), signature, 0o644),                // everybody may read it
		os.WriteFile(filepath.Join(r.out, release.SSHFile), release.SignSSH(*secret, text), 0o644), // everybody may read it
	)
}

// newKey makes a key, and puts its public half where the program and the installer
// have it.
func newKey(root, name string) (err error) {
	secret, err := release.NewSecret()
	if err != nil {
		return err
	}
	script := filepath.Join(root, "install.sh")
	text, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(secret.File())
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	key := secret.Public()
	text = regexp.MustCompile(`(?m)^key='.*'$`).ReplaceAll(text, []byte("key='"+key.Text()+"'"))
	text = regexp.MustCompile(`(?m)^ssh_key='.*'$`).ReplaceAll(text, []byte("ssh_key='"+key.SSH()+"'"))
	fmt.Printf("The secret key is in %s: keep it where only releases are made. Its public half is in internal/release/toolcrib.pub and install.sh; commit both.\n", name)
	return errors.Join(
		os.WriteFile(filepath.Join(root, "internal", "release", "toolcrib.pub"), key.File(), 0o644), // everybody may read it
		os.WriteFile(script, text, 0o755), // it is a program
	)
}
