import { workAsChild } from '../../child-process.js';
import { copyFolder } from '../../store/lmdb/copy-folder.js';

/** The process that copies a store and its journal into one file for `backup`. LMDB cannot stop a copy: only killing its process does. */

const [dataDir, target] = process.argv.slice(2) as [string, string];
await workAsChild(() => copyFolder(dataDir, target));
