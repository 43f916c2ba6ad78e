package model

import (
	"context"
	"net/http"
	"time"
)

// Endpoint is where a model is asked, and how: what the adapters have in common.
type Endpoint struct {
	// BaseURL is what the paths of the API come behind, such as https://host/v1. Empty:
	// the address of the service that the API is of.
	BaseURL string
	Model   string // what the service calls it
	// Key gives the key when a request needs it. Nil: none is sent.
	Key    func(context.Context) (string, error)
	HTTP   *http.Client // nil: one that follows no redirect
	Header http.Header  // sent along with every request
	// NoStream asks for whole answers, for services that cannot do otherwise.
	NoStream bool
	// Tools, Images, Context and Output of Traits say what the model can do; the rest
	// the adapter knows.
	Traits Traits

	// Idle bounds how long nothing may arrive. Zero: 3 minutes.
	Idle time.Duration
	// Attempts bounds how often a request is sent that was not answered, with pauses in
	// between. What was begun to be answered is never sent again. Zero: 4.
	Attempts int
	// MaxWait bounds the pause that a service may ask for. If it wants a longer one, that
	// is the error. Zero: one minute.
	MaxWait time.Duration
	// Pause waits before another attempt. Nil: by the clock.
	Pause func(context.Context, time.Duration) error
}
