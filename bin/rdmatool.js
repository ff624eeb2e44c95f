#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const program = join(__dirname, '../dist/main.cjs');
if (existsSync(program)) {
  require(program).main();
} else {
  process.stderr.write('rdmatool: it has not been built yet\nnext: npm run setup\n');
  process.exitCode = 69;
}
