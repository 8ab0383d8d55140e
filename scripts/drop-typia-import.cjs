// A transformer of the compiler. typia's own replaces all calls, so that compiled code needs no more than its helpers in typia/lib/internal;
// the import that is left would load the whole package, 40 ms in each thread of the server.
exports.default =
  (_program, _config, { ts }) =>
  () =>
  file => {
    const isNeeded = statement => !ts.isImportDeclaration(statement) || statement.moduleSpecifier.text !== 'typia';
    return ts.factory.updateSourceFile(file, file.statements.filter(isNeeded));
  };
