# shell completion
# arenac bash: completion bash
# arenac zsh: completion zsh
# arenac fish: completion fish
