<?php
// Every generated class loads; a message there and back.
$folder = $argv[1];
spl_autoload_register(function (string $class) use ($folder): void {
    foreach ([$folder, '/usr/share/php'] as $root) {
        $file = $root . '/' . str_replace('\\', '/', $class) . '.php';
        if (is_file($file)) {
            require_once $file;
            return;
        }
    }
});
$files = new RecursiveIteratorIterator(new RecursiveDirectoryIterator($folder, FilesystemIterator::SKIP_DOTS));
$count = 0;
foreach ($files as $file) {
    $class = str_replace('/', '\\', substr($file->getPathname(), strlen($folder) + 1, -4));
    if (!class_exists($class)) {
        echo "no class $class in $file\n";
        exit(1);
    }
    $count++;
}
$sent = new Maskd\V1\CheckRequest(['raw_text' => "\xff"]);
$read = new Maskd\V1\CheckRequest();
$read->mergeFromString($sent->serializeToString());
if ($count < 30 || $read->getRawText() !== "\xff") {
    echo "$count classes, or the message is not what was sent\n";
    exit(1);
}
