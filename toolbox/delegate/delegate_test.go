package delegate
