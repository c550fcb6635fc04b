// What was wrong with versions of CouchDB, as far as it touches tiles: attachments, compaction, replication, purging, design
// functions. From its release notes, 3.3 to 3.5; the number is that of the issue there.

/**
 * @typedef {object} Fault
 * @property {string} fixed in this version and in all later ones
 * @property {string} what
 * @property {string} issue
 * @property {'purged' | 'quickjs'} [only] where it matters
 */

/** @type {Fault[]} */
export const faults = [
  { fixed: '3.3.1', issue: '#4353', what: 'no more than one replication is started' },
  { fixed: '3.3.2', issue: 'CVE-2023-26268', what: 'design functions of one database may see what those of another have left' },
  { fixed: '3.3.3', issue: 'CVE-2023-45725', what: 'design functions are shown the headers that admins are known by' },
  { fixed: '3.3.3', issue: '#4679', what: 'now and then the replicator does not carry an attachment' },
  { fixed: '3.3.3', issue: '#4821', what: 'the compaction of an index that is busy fails at its end and begins anew' },
  { fixed: '3.3.3', issue: '#4626', what: 'splitting a shard takes purges to the wrong shards', only: 'purged' },
  { fixed: '3.4.3', issue: '#5347', what: 'attachments are counted wrongly, so that shards are not compacted when they should be' },
  { fixed: '3.4.3', issue: '#5437', what: 'the replicator carries the bytes of a tile again whenever its document changes' },
  { fixed: '3.4.3', issue: '#5440', what: 'purges beyond purged_infos_limit are listed wrongly', only: 'purged' },
  { fixed: '3.5.2', issue: '#5827, #5912', what: 'indexes may lose their place among the purges, and are built anew', only: 'purged' },
  { fixed: '3.5.2', issue: '#5751', what: 'QuickJS leaks memory and may crash', only: 'quickjs' }
]

const numbers = version => (/^(\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? []).slice(1).map(part => +(part ?? 0))

/** @param {string} version @param {string} other */
export function isBefore (version, other) {
  const [one, two] = [numbers(version), numbers(other)]
  if (!one.length) return false
  const at = one.findIndex((part, index) => part !== two[index])
  return at >= 0 && one[at] < two[at]
}

/**
 * @param {string} version
 * @param {Partial<Record<'purged' | 'quickjs', boolean>>} about this server
 */
export const faultsOf = (version, about) => faults.filter(({ fixed, only }) => isBefore(version, fixed) && (!only || about[only]))
