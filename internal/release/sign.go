package release

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

const (
	untrustedComment = "untrusted comment: "
	trustedComment   = "trusted comment: "
)

// Sign signs a text in minisign's older form, where the text itself is signed and
// not a digest of it: OpenSSL can check that too. The comment is signed with it.
func Sign(s Secret, text []byte, comment string) ([]byte, error) {
	if strings.ContainsAny(comment, "\r\n") {
		return nil, errors.New("a comment is one line")
	}
	signature := ed25519.Sign(s.private, text)
	both := ed25519.Sign(s.private, append(bytes.Clone(signature), comment...))
	raw := append(append([]byte("Ed"), s.number[:]...), signature...)
	return fmt.Appendf(nil, "%ssignature of a release of Toolcrib\n%s\n%s%s\n%s\n", untrustedComment,
		base64.StdEncoding.EncodeToString(raw), trustedComment, comment, base64.StdEncoding.EncodeToString(both)), nil
}

// Verify holds a text against a signature that Sign made and gives its comment.
func Verify(k Key, text, signature []byte) (comment string, err error) {
	lines := strings.Split(strings.TrimSuffix(string(signature), "\n"), "\n")
	if len(signature) > 4096 || len(lines) != 4 || !strings.HasPrefix(lines[0], untrustedComment) || !strings.HasPrefix(lines[2], trustedComment) {
		return "", errors.New("the signature is not one of minisign: want four lines")
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(lines[1])
	if err != nil || len(raw) != 2+8+ed25519.SignatureSize || string(raw[:2]) != "Ed" {
		return "", errors.New("the signature is not one of ours: want minisign's form without a digest")
	}
	if !bytes.Equal(raw[2:10], k.number[:]) {
		return "", errors.New("the signature was made with another key")
	}
	if len(k.public) != ed25519.PublicKeySize || !ed25519.Verify(k.public, text, raw[10:]) {
		return "", errors.New("the signature does not belong to this text: one of the two was changed")
	}
	comment = strings.TrimPrefix(lines[2], trustedComment)
	both, err := base64.StdEncoding.Strict().DecodeString(lines[3])
	if err != nil || len(both) != ed25519.SignatureSize || !ed25519.Verify(k.public, append(bytes.Clone(raw[10:]), comment...), both) {
		return "", errors.New("the comment of the signature was changed")
	}
	return comment, nil
}

// Namespace says what signatures of ssh-keygen are for, so that one made for
// something else does not count.
const Namespace = "toolcrib-release"

// SignSSH signs a text as "ssh-keygen -Y sign" does. Machines that have neither
// minisign nor OpenSSL 3, Macs above all, have ssh-keygen.
func SignSSH(s Secret, text []byte) []byte {
	const digest = "sha512"
	sum := sha512.Sum512(text)
	signed := append([]byte("SSHSIG"), sshStrings(Namespace, "", digest, string(sum[:]))...)
	blob := append([]byte("SSHSIG"), 0, 0, 0, 1)
	blob = append(blob, sshStrings(s.Public().sshBlob(), Namespace, "", digest,
		string(sshStrings("ssh-ed25519", string(ed25519.Sign(s.private, signed)))))...)
	return pem.EncodeToMemory(&pem.Block{Type: "SSH SIGNATURE", Bytes: blob})
}

// SSH is the key as a line of ssh's authorized_keys has it.
func (k Key) SSH() string {
	return "ssh-ed25519 " + base64.StdEncoding.EncodeToString([]byte(k.sshBlob()))
}

func (k Key) sshBlob() string { return string(sshStrings("ssh-ed25519", string(k.public))) }

// sshStrings writes strings as ssh does: the length, then the bytes.
func sshStrings(list ...string) (out []byte) {
	for _, s := range list {
		out = binary.BigEndian.AppendUint32(out, uint32(len(s))) // our own short strings
		out = append(out, s...)
	}
	return out
}
