"""Which layer may use which, and which third parties (docs/architecture.md). A new library adds a line."""

LAYERS = {
    'ir_core': set(),
    'ir_search': {'ir_core'},
    'ir_io': {'ir_core'},
    'ir_machine': {'ir_core'},
    'ir_import': {'ir_core', 'ir_io'},
    'compose': {'ir_core', 'ir_io'},
    'smt': set(),
    'proofs_check': {'ir_core', 'ir_io'},
    'proofs_prove': {'ir_core', 'ir_io', 'ir_search', 'proofs_check', 'smt'},
    'recheck': {'ir_core', 'ir_io', 'proofs_check'},
    'certify': {'ir_core', 'ir_io', 'smt', 'proofs_check', 'proofs_prove'},
    'command': {'ir_core', 'ir_io', 'ir_import', 'compose', 'certify', 'proofs_check'},
}

# Prefixes of third-party headers, and who may include them.
THIRD_PARTIES = {
    'z3': {'smt'},
    'boost/': {'proofs_prove'},
    'simdjson': {'ir_io', 'certify', 'compose'},
    'zstd': {'ir_io'},
    'openssl/': {'ir_io'},
    'pugixml': {'ir_import', 'compose', 'certify'},
    'CLI/': {'command', 'recheck'},
}

# Too dear for a header, whoever includes it.
NOT_IN_HEADERS = ('iostream', 'z3', 'boost/graph/')
