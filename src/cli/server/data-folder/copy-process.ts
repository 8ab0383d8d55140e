import { workAsChild } from '../../../base/child-process.js';
import { copyFolder } from '../../../server/store/lmdb/folder/copy-folder.js';

/** The process that copies a store and its journal into one file for `backup`. LMDB cannot stop a copy: only killing its process does. */

const [dataDir, target] = process.argv.slice(2) as [string, string];
await workAsChild(() => copyFolder(dataDir, target));
