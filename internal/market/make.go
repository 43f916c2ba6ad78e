package market

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// packed is the folder of an index that folders are packed into.
const packed = "packages"

// Made is what became of a directory.
type Made struct {
	Index   Index    `json:"index"`
	Key     string   `json:"key"`
	Skipped []string `json:"skipped,omitempty"` // what is in the directory and not in the index
}

// Make writes a signed index of the packages in a directory: folders and zip archives that
// lie directly in it. Folders are packed, each time in the same way. Valid is how long the
// index holds; 0: for ever.
func Make(dir string, key ed25519.PrivateKey, valid time.Duration, now time.Time) (*Made, error) {
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok || len(key) != ed25519.PrivateKeySize {
		return nil, errors.New("this is no key to sign with")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // what was written is closed by itself
	made := &Made{Key: KeyText(public), Index: Index{Format: indexFormat, Serial: now.Unix(), Made: now.UTC().Truncate(time.Second), Items: []Item{}}}
	if valid > 0 {
		made.Index.Expires = made.Index.Made.Add(valid)
	}
	if old, err := readBounded(root, indexFile, mostList); err == nil { // its number is never given again
		if was, err := readIndex(old); err == nil {
			made.Index.Serial = max(made.Index.Serial, was.Serial+1)
		}
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	seen := map[string]string{}
	for _, e := range entries {
		name := e.Name()
		if name == packed || strings.HasPrefix(name, ".") || strings.HasPrefix(name, indexFile) {
			continue
		}
		item, err := makeItem(dir, root, e)
		if err == nil && seen[item.Kind+strings.ToLower(item.Name)] != "" {
			err = fmt.Errorf("%s has the same name", seen[item.Kind+strings.ToLower(item.Name)])
		}
		if err != nil {
			made.Skipped = append(made.Skipped, fmt.Sprintf("%s: %v", shown(name, 80), err))
			continue
		}
		seen[item.Kind+strings.ToLower(item.Name)] = name
		made.Index.Items = append(made.Index.Items, *item)
	}
	slices.SortFunc(made.Index.Items, func(a, b Item) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind))
	})
	return made, made.sign(dir, key)
}

// sign writes the index and then its signature. Who reads in between finds that they do not
// fit, and looks again.
func (m *Made) sign(dir string, key ed25519.PrivateKey) error {
	text, err := json.MarshalIndent(m.Index, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	sig, err := json.Marshal(signature{Key: m.Key, Signature: base64.StdEncoding.EncodeToString(ed25519.Sign(key, append([]byte(signedAs), text...)))})
	if err != nil {
		return err
	}
	if err := durable.Replace(filepath.Join(dir, indexFile), text, 0o644); err != nil {
		return err
	}
	return durable.Replace(filepath.Join(dir, signatureFile), append(sig, '\n'), 0o644)
}

func makeItem(dir string, root *os.Root, e fs.DirEntry) (*Item, error) {
	var archive []byte
	file := e.Name()
	var content fs.FS
	switch end := ending(file); {
	case e.IsDir():
		sub, err := root.OpenRoot(file)
		if err != nil {
			return nil, err
		}
		defer func() { _ = sub.Close() }() // it was only read
		if archive, err = pack(sub.FS()); err != nil {
			return nil, err
		}
		content = sub.FS()
	case !e.Type().IsRegular() || end != ".zip" && end != ".mcpb":
		return nil, errors.New("this is neither a folder nor a zip archive")
	default:
		var err error
		if archive, err = readBounded(root, file, mostContent); err != nil {
			return nil, err
		}
		if content, err = zip.NewReader(bytes.NewReader(archive), int64(len(archive))); err != nil {
			return nil, errors.New("this is no zip archive")
		}
	}
	p, err := readPackage(content, strings.TrimSuffix(file, ending(file)))
	if err != nil {
		return nil, err
	}
	item := &Item{Name: p.Name, Version: p.Version, Description: p.Description, Author: p.Author, Kind: Bundle, File: file, Digest: digestOf(archive)}
	switch {
	case p.Format == "mcp-server":
		text, err := fs.ReadFile(content, "server.json")
		if err != nil {
			return nil, err
		}
		var short bytes.Buffer
		if err := json.Compact(&short, text); err != nil {
			return nil, err
		}
		r, err := resultOf(short.Bytes())
		if err != nil {
			return nil, err
		}
		item.Name, item.Kind, item.File, item.Digest, item.Server = r.Name, Server, "", "", short.Bytes()
		return item, nil
	case p.Format == "skills" && len(p.Skills) == 1 && p.Skills[0].Dir == ".":
		item.Name, item.Description, item.Kind = p.Skills[0].Name, p.Skills[0].Description, Skill
	}
	if !e.IsDir() {
		return item, nil
	}
	sum, _ := hashOf(item.Digest) // it was made here
	item.File = path.Join(packed, item.Name+"-"+sum[:16]+".zip")
	if err := os.MkdirAll(filepath.Join(dir, packed), 0o755); err != nil {
		return nil, err
	}
	return item, durable.Replace(filepath.Join(dir, filepath.FromSlash(item.File)), archive, 0o644)
}

// readPackage reads what a package says of itself.
func readPackage(content fs.FS, name string) (*bundle.Package, error) {
	box, err := skill.Open(context.Background(), skill.Config{}, skill.Needs{YAML: config.Decode, Open: func(skill.Place) (*files.Handle, error) {
		return nil, fs.ErrNotExist
	}})
	if err != nil {
		return nil, err
	}
	return bundle.Read(content, bundle.Needs{Name: name, YAML: config.Decode, Skill: func(_ string, text []byte) (bundle.Skill, []bundle.Note, error) {
		check := box.Validate(".", text)
		return bundle.Skill{Name: check.Skill.Name, Description: check.Skill.Description, AllowedTools: check.Skill.AllowedTools}, nil, check.Err
	}})
}

// pack makes a zip archive of a folder: the same for the same files, whenever it is made.
// Links and the like are refused, since they would be another thing elsewhere.
func pack(folder fs.FS) ([]byte, error) {
	var out bytes.Buffer
	z, size := zip.NewWriter(&out), 0
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), ".git"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is no plain file", shown(name, 100))
		}
		if _, err := bundle.CheckPath(name); err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if size += int(info.Size()); size > mostContent || info.Size() > mostContent {
			return fmt.Errorf("it is larger than %d MiB", mostContent>>20)
		}
		data, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		head := &zip.FileHeader{Name: name, Method: zip.Deflate}
		head.SetMode(0o644 | info.Mode()&0o111)
		w, err := z.CreateHeader(head)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err := errors.Join(err, z.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
