package vault

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"filippo.io/age"
	"filippo.io/age/armor"
)

// ExportTo says for whom an export is. It is encrypted in any case: a plain
// one would be the file that everybody forgets to delete.
type ExportTo struct {
	// Recipients are public age keys (age1…). Give these or a passphrase.
	Recipients []string
	Passphrase string
	// Only chooses secrets. Nil: all.
	Only func(Ref) bool
}

// exported is one secret in an export: a value that is text stands there as
// text, another as bytes.
type exported struct {
	Ref
	Value   string    `json:"value,omitempty"`
	Bytes   []byte    `json:"bytes,omitempty"`
	Changed time.Time `json:"changed"`
}

// Export writes secrets as an age file in text form, which the age program
// opens; inside is JSON. It gives the number of secrets.
func (v *Vault) Export(ctx context.Context, w io.Writer, to ExportTo) (int, error) {
	recipients, err := to.recipients(v.work)
	if err != nil {
		return 0, fmt.Errorf("exporting secrets: %w", err)
	}
	c, _, err := v.current(ctx)
	if err != nil {
		return 0, fmt.Errorf("exporting secrets: %w", err)
	}
	list := []exported{}
	for ref, e := range c.refs() {
		if to.Only != nil && !to.Only(ref) {
			continue
		}
		one := exported{Ref: ref, Changed: e.changed}
		if utf8.ValidString(e.value) {
			one.Value = e.value
		} else {
			one.Bytes = []byte(e.value)
		}
		list = append(list, one)
	}
	plain, err := json.MarshalIndent(map[string][]exported{"secrets": list}, "", "  ")
	if err != nil {
		return 0, fmt.Errorf("exporting secrets: %w", err)
	}
	defer clear(plain)
	data, err := encrypt(plain, recipients...)
	if err != nil {
		return 0, fmt.Errorf("exporting secrets: %w", err)
	}
	text := armor.NewWriter(w)
	_, err = text.Write(data)
	if err == nil {
		err = text.Close()
	}
	if err != nil {
		return 0, fmt.Errorf("exporting secrets: %w", err)
	}
	return len(list), nil
}

func (to ExportTo) recipients(work int) ([]age.Recipient, error) {
	if (len(to.Recipients) == 0) == (to.Passphrase == "") {
		return nil, invalid("an export is for public keys or under a passphrase; name one of the two")
	}
	if to.Passphrase != "" {
		if n := utf8.RuneCountInString(to.Passphrase); n < minPassphrase {
			return nil, invalid("the passphrase has %d characters; take %d or more", n, minPassphrase)
		}
		r, err := age.NewScryptRecipient(to.Passphrase)
		if err != nil {
			return nil, fmt.Errorf("taking the passphrase: %w", err)
		}
		r.SetWorkFactor(work)
		return []age.Recipient{r}, nil
	}
	var list []age.Recipient
	for i, text := range to.Recipients {
		// Not the text: a private key may have been given by mistake.
		if strings.Contains(strings.ToUpper(text), keyPrefix) {
			return nil, invalid("recipient %d is a private key; give the public one, age1…", i+1)
		}
		r, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil || len(r) != 1 {
			return nil, invalid("recipient %d is no public age key", i+1)
		}
		list = append(list, r...)
	}
	return list, nil
}
