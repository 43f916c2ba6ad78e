package settings

// BadConfig is a configuration that reads well and makes no sense.
type BadConfig struct{ error }

// Unwrap gives what is wrong.
func (b BadConfig) Unwrap() error { return b.error }

// Bad marks an error as one of the configuration.
func Bad(err error) error {
	if err == nil {
		return nil
	}
	return BadConfig{err}
}
