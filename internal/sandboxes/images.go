package sandboxes

import (
	"context"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox/container"
)

// Images are the containers of MCP servers, by the image that a server runs in.
// What holds in the containers of one image need not hold in those of another, so
// each is tried when it is first needed.
type Images struct {
	cfg container.Config

	mu     sync.Mutex
	opened map[string]*openedImage
}

// openedImage has a lock of its own: an image that takes long must not hold up
// servers of another.
type openedImage struct {
	mu  sync.Mutex
	box *container.Sandbox
}

func newImages(cfg container.Config) *Images {
	cfg.Server = true
	// What a server fetches lies in /tmp, and counts as its memory.
	cfg.TempBytes = cfg.Limits.Filled().MemoryBytes / 2
	return &Images{cfg: cfg, opened: map[string]*openedImage{}}
}

// Open gives the containers of an image, or says why there are none. What failed is
// tried again by the next who asks: the hub sees to it that they are not many.
func (i *Images) Open(ctx context.Context, image string) (toolcrib.Sandbox, error) {
	i.mu.Lock()
	one := i.opened[image]
	if one == nil {
		one = &openedImage{}
		i.opened[image] = one
	}
	i.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.box == nil {
		cfg := i.cfg
		cfg.Image = image
		box, err := container.Open(ctx, cfg)
		if err != nil {
			return nil, err
		}
		one.box = box
	}
	return one.box, nil
}
