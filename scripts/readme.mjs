// @ts-check
// Puts into README.md what its commands print. A test says when it is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { withOutputs } from './readme/outputs.mjs';

writeFileSync('README.md', withOutputs(readFileSync('README.md', 'utf8')));
