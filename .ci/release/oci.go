package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// image is a container image from nothing: the program, the certificates of
// authorities, and directories for a user without rights. There is no shell in it.
type image struct {
	version, commit string
	date            time.Time
	arch            string
	program, roots  []byte
	licence         []byte
}

// nobody is the user in the image.
const nobody = 65532

// archive is the image as a layout of the Open Container Initiative in a tar. The
// manifest.json is for engines that load only what docker itself saved: it names
// the same blobs.
func (i image) archive() ([]byte, error) {
	layer, err := tarred(i.files(), i.date, func(name string) owner {
		if slices.Contains([]string{"data/", "home/toolcrib/", "work/"}, name) {
			return owner{nobody}
		}
		return owner{}
	})
	if err != nil {
		return nil, err
	}
	packed := gzipped(layer)
	b := blobs{}
	layerAt := b.add("application/vnd.oci.image.layer.v1.tar+gzip", packed)
	config, err := json.Marshal(i.config(digest(layer)))
	if err != nil {
		return nil, err
	}
	configAt := b.add("application/vnd.oci.image.config.v1+json", config)
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": configAt, "layers": []descriptor{layerAt}, "annotations": i.labels(),
	})
	if err != nil {
		return nil, err
	}
	manifestAt := b.add("application/vnd.oci.image.manifest.v1+json", manifest)
	manifestAt.Platform = map[string]string{"os": "linux", "architecture": i.arch}
	tag := strings.ReplaceAll(strings.TrimPrefix(i.version, "v"), "+", "_") // a tag has no plus
	manifestAt.Annotations = map[string]string{"org.opencontainers.image.ref.name": tag, "io.containerd.image.name": "docker.io/library/toolcrib:" + tag}
	files := b.files()
	for name, value := range map[string]any{
		"oci-layout": map[string]string{"imageLayoutVersion": "1.0.0"},
		"index.json": map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []descriptor{manifestAt}},
		"manifest.json": []map[string]any{{
			"Config": blobName(configAt.Digest), "RepoTags": []string{"toolcrib:" + tag}, "Layers": []string{blobName(layerAt.Digest)},
		}},
	} {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, text})
	}
	return tarred(files, i.date, nil)
}

func (i image) files() []file {
	list := []file{
		{"usr/bin/toolcrib", 0o755, i.program},
		{"usr/share/doc/toolcrib/LICENSE", 0o644, i.licence},
		{"etc/passwd", 0o644, []byte("root:x:0:0:root:/:/\ntoolcrib:x:65532:65532:toolcrib:/home/toolcrib:/\n")},
		{"etc/group", 0o644, []byte("root:x:0:\ntoolcrib:x:65532:\n")},
		{"data/", 0o700, nil},
		{"home/toolcrib/", 0o700, nil},
		{"work/", 0o755, nil},
		{"tmp/", 0o777, nil},
	}
	if len(i.roots) > 0 {
		list = append(list, file{"etc/ssl/certs/ca-certificates.crt", 0o644, i.roots})
	}
	return list
}

// config says how the image is run: as nobody, with its state in a volume, and
// serving on loopback only. Other machines reach it once TLS is set up, as
// everywhere else.
func (i image) config(layer string) map[string]any {
	return map[string]any{
		"created": i.date.Format(time.RFC3339), "architecture": i.arch, "os": "linux",
		"config": map[string]any{
			"User": "65532:65532", "Env": []string{"PATH=/usr/bin", "HOME=/home/toolcrib", "TOOLCRIB_HOME=/data"},
			"Entrypoint": []string{"/usr/bin/toolcrib"}, "Cmd": []string{"serve"},
			"WorkingDir": "/work", "Volumes": map[string]struct{}{"/data": {}}, "ExposedPorts": map[string]struct{}{"7717/tcp": {}}, "Labels": i.labels(),
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{layer}},
		"history": []map[string]any{{"created": i.date.Format(time.RFC3339), "created_by": "make release", "comment": "the program and nothing else"}},
	}
}

func (i image) labels() map[string]string {
	l := map[string]string{
		"org.opencontainers.image.title": "toolcrib", "org.opencontainers.image.version": strings.TrimPrefix(i.version, "v"),
		"org.opencontainers.image.revision": i.commit, "org.opencontainers.image.created": i.date.Format(time.RFC3339),
		"org.opencontainers.image.source": "https://github.com/toolcrib/toolcrib", "org.opencontainers.image.licenses": "Apache-2.0",
	}
	if len(i.roots) > 0 {
		l["toolcrib.roots"] = digest(i.roots) // which certificates these are
	}
	return l
}

// descriptor names a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// blobs are contents by their digests.
type blobs map[string][]byte

func (b blobs) add(kind string, content []byte) descriptor {
	at := digest(content)
	b[at] = content
	return descriptor{MediaType: kind, Digest: at, Size: len(content)}
}

func (b blobs) files() (list []file) {
	for at, content := range b {
		list = append(list, file{blobName(at), 0o644, content})
	}
	return list
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func blobName(digest string) string { return "blobs/" + strings.ReplaceAll(digest, ":", "/") }
