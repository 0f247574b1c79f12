// Makes src/gen of the published protos, then dist/esm and dist/cjs. protoc must be on the machine.
import {execFileSync} from "node:child_process";
import {mkdirSync, readdirSync, rmSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

process.chdir(dirname(fileURLToPath(import.meta.url)));
const protos = "../../protos";
const run = (program, ...args) => execFileSync(program, args, {stdio: "inherit"});

for (const folder of ["dist", "src/gen"]) rmSync(folder, {recursive: true, force: true});
mkdirSync("src/gen", {recursive: true});
run("protoc", "-I", protos, "--plugin=node_modules/.bin/protoc-gen-ts_proto", "--ts_proto_out=src/gen",
    "--ts_proto_opt=outputServices=grpc-js,esModuleInterop=true,importSuffix=.js,outputJsonMethods=false," +
        "outputPartialMethods=false,useOptionals=none",
    ...readdirSync(join(protos, "maskd/v1")).map((file) => join(protos, "maskd/v1", file)));
for (const project of ["tsconfig.json", "tsconfig.cjs.json"]) run("node_modules/.bin/tsc", "-p", project);
writeFileSync("dist/cjs/package.json", '{"type": "commonjs"}\n');
