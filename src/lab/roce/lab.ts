/**
 * Lab roce: a kernel of Debian in a virtual machine, with two soft-RoCE devices on one wire. Programs of this machine
 * run in it.
 */
export { LabError } from '../error.ts';
export { downRoceLab, keepRoceLab, roceLabStatus, upRoceLab } from './residence.ts';
export { runRoceLab } from './run.ts';
