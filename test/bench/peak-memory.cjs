// Preloaded into a process under test: says on stderr how much memory it took at most.
process.on('exit', () => {
  process.stderr.write(`peak-memory-kib ${process.resourceUsage().maxRSS}\n`);
});
