package agents

// ModelName is what the settings call the model that answers.
func (s *Session) ModelName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.agent.Model.(Model); ok {
		return m.Name()
	}
	return s.agent.Model.Traits().Name
}
