package agents

// ModelName is what the settings call the model that answers.
func (s *Session) ModelName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model
}
