package market

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/pattern"
)

// The texts of sources, as 'toolcrib bundle install' reads them. It checks them again: what
// stands here is made of what strangers wrote.

var (
	fullCommit = pattern.Of(`^[0-9a-f]{40}$`)
	plainRef   = pattern.Of(`^[A-Za-z0-9_][A-Za-z0-9._/+-]{0,199}$`)
	npmPackage = pattern.Of(`^(@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]{0,199}$`)
	npmVersion = pattern.Of(`^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]{0,80}$`)
	ownerRepo  = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$`)
)

// archiveSource is an archive elsewhere.
func archiveSource(at *url.URL, digest string) (string, error) {
	sum, err := hashOf(digest)
	switch {
	case err != nil:
		return "", err
	case ending(at.Path) == "":
		return "", fmt.Errorf("its address ends in none of %s", strings.Join(archives(), ", "))
	case at.Scheme != "https" && !thisMachine(at.Hostname()) || at.User != nil || at.Host == "":
		return "", fmt.Errorf("its address is not https")
	}
	plain := *at
	plain.Fragment = ""
	return plain.String() + "#sha256=" + sum, nil
}

// gitSource is a repository, at a commit or a ref, and a folder in it.
func gitSource(address, ref, commit, path string) (string, error) {
	u, err := url.Parse(strings.TrimPrefix(address, "git+"))
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "":
		return "", fmt.Errorf("its repository is at no address of the form https://host/path")
	case commit != "" && !fullCommit.MatchString(commit):
		return "", fmt.Errorf("its commit is not 40 hexadecimal digits")
	case ref != "" && (!plainRef.MatchString(ref) || strings.Contains(ref, "..")):
		return "", fmt.Errorf("its ref is none")
	}
	fields := url.Values{}
	if path = strings.TrimPrefix(path, "./"); path != "" && path != "." {
		if path, err = bundle.CheckPath(path); err != nil {
			return "", err
		}
		fields.Set("path", path)
	}
	if commit != "" {
		fields.Set("commit", commit)
	}
	if ref != "" {
		fields.Set("ref", ref)
	}
	text := "git+" + u.String()
	if len(fields) > 0 {
		text += "#" + strings.ReplaceAll(fields.Encode(), "%2F", "/")
	}
	return text, nil
}

// npmSource is a package of npm. One without an exact version is none.
func npmSource(name, version, registry string) (string, error) {
	switch {
	case !npmPackage.MatchString(name):
		return "", fmt.Errorf("%q is no package of npm", shown(name, 80))
	case !npmVersion.MatchString(version):
		return "", fmt.Errorf("its version %q is not exact", shown(version, 40))
	}
	text := "npm:" + name + "@" + version
	if registry != "" {
		u, err := address(registry)
		if err != nil {
			return "", fmt.Errorf("its registry is at no address that is used: %w", err)
		}
		text += "#registry=" + url.QueryEscape(u.String())
	}
	return text, nil
}
