// Makes two builds of a commit the same bytes: a new cluster and a tar hold times and random numbers, which are
// replaced.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** 2000-01-01, in seconds since 1970. */
const TIME_S = 946_684_800
/** Constants of PostgreSQL 18: the version of pg_control, places in it, and the size of a checkpoint. */
const CONTROL_VERSION = 1800
const PLACE = { version: 8, time: 24, checkpoint: 32, copy: 40, copyTime: 104, nonce: 257, crc: 292 } as const
const CHECKPOINT_BYTES = 88
const NONCE_BYTES = 32
const PAGE_HEADER_BYTES = 40
const SEGMENT_BYTES = 16 * 1024 * 1024
/** The first log of a new cluster, and the next one: pages of the cluster refer to places in the first. */
const FIRST_LOG = 'pg_wal/000000010000000000000001'
const NEXT_LOG = 'pg_wal/000000010000000000000002'
const LONG_HEADER = 2
const SHORT_DATA = 255

/**
 * Gives a cluster that was shut down an identity that follows from `seed`, and a log that holds its last checkpoint only, as
 * `pg_resetwal` writes it. Every cluster of a build has the same identity in any case.
 */
export function resetCluster(folder: string, seed: string): void {
  const control = readFileSync(join(folder, 'global/pg_control'))
  const isKnown =
    control.readUInt32LE(PLACE.version) === CONTROL_VERSION &&
    control.readUInt32LE(PLACE.crc) === crc32c(control.subarray(0, PLACE.crc))
  if (!isKnown || existsSync(join(folder, NEXT_LOG))) throw new Error('pg_control has another form')
  const random = new Bun.CryptoHasher('sha512').update(seed).digest()
  random.copy(control, 0, 0, 8)
  random.copy(control, PLACE.nonce, 8, 8 + NONCE_BYTES)
  const at = BigInt(SEGMENT_BYTES * 2 + PAGE_HEADER_BYTES)
  control.writeBigUInt64LE(at, PLACE.checkpoint)
  control.writeBigUInt64LE(at, PLACE.copy)
  control.writeBigUInt64LE(BigInt(TIME_S), PLACE.time)
  control.writeBigUInt64LE(BigInt(TIME_S), PLACE.copyTime)
  control.writeUInt32LE(crc32c(control.subarray(0, PLACE.crc)), PLACE.crc)

  const log = Buffer.alloc(SEGMENT_BYTES)
  readFileSync(join(folder, FIRST_LOG)).copy(log, 0, 0, PAGE_HEADER_BYTES)
  log.writeUInt16LE(LONG_HEADER, 2)
  log.writeBigUInt64LE(BigInt(SEGMENT_BYTES * 2), 8)
  control.copy(log, 24, 0, 8)
  const record = Buffer.alloc(26 + CHECKPOINT_BYTES)
  record.writeUInt32LE(record.length)
  record.writeUInt8(SHORT_DATA, 24)
  record.writeUInt8(CHECKPOINT_BYTES, 25)
  control.copy(record, 26, PLACE.copy, PLACE.copy + CHECKPOINT_BYTES)
  record.writeUInt32LE(crc32c(record.subarray(24), record.subarray(0, 20)), 20)
  record.copy(log, PAGE_HEADER_BYTES)

  writeFileSync(join(folder, 'global/pg_control'), control)
  writeFileSync(join(folder, NEXT_LOG), log)
  rmSync(join(folder, FIRST_LOG))
  // counters with times; they begin at 0 without the file
  rmSync(join(folder, 'pg_stat/pgstat.stat'), { force: true })
}

/** CRC-32C of the parts together. */
function crc32c(...parts: Buffer[]): number {
  let crc = 0xffff_ffff
  for (const part of parts) {
    for (const byte of part) {
      crc ^= byte
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f6_3b78 : 0)
    }
  }
  return ~crc >>> 0
}

const BLOCK = 512

/** Sets the time of every file of a tar, in place. */
export function setTarTimes(tar: Buffer): void {
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    tar.write(`${TIME_S.toString(8).padStart(11, '0')}\0`, at + 136, 'latin1')
    // the checksum counts itself as blanks
    tar.write(' '.repeat(8), at + 148, 'latin1')
    const sum = tar.subarray(at, at + BLOCK).reduce((total, byte) => total + byte, 0)
    tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148, 'latin1')
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8)
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
}
