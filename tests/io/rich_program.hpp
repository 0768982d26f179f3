// A program that uses every element of the format, one element per line, and edits of it.
#pragma once

#include <string>
#include <string_view>

#include "ir/program_file.hpp"

namespace spatialcert::ir::test {

inline constexpr std::string_view kRichProgram = R"({"format":"spatialcert-program","version":1,
"name":"rich",
"target":{"name":"two chips","chips":2,"mesh":[2,1],"engines":["load","compute","store"],
"spaces":[{"name":"sram","bytes":65536,"alignment":64},{"name":"dram","bytes":1048576}],
"semaphores":{"per_site":3,"maximum":15},
"handoffs":[{"name":"noc"},{"name":"link","crosses_chips":true}],
"tile":[16,16],"float_type":"bf16","widest_integer":"i32"},
"execution":"persistent",
"tensors":[
{"name":"x","role":"input","rows":64,"cols":16,"dtype":"bf16","init":"external","source":[0,3]},
{"name":"w","role":"weight","rows":16,"cols":16,"dtype":"bf16","init":"external","owner":1},
{"name":"kv","role":"state","rows":64,"cols":16,"dtype":"bf16","init":"zero"},
{"name":"kv_tail","role":"state","rows":2,"cols":16,"dtype":"bf16","view":{"of":"kv","offset":992}},
{"name":"y","role":"output","rows":64,"cols":16,"dtype":"bf16"},
{"name":"heads.0","role":"input","rows":24,"cols":6,"dtype":"i8","init":"external","owner":0,"values":[-7,7]},
{"name":"heads.1","role":"input","rows":24,"cols":4,"dtype":"i8","init":"external","owner":0}],
"buffers":[
{"name":"q","kind":"fifo","site":[0,0,0],"space":"sram","address":0,"page_bytes":512,"pages":4},
{"name":"across","kind":"fifo","site":[0,0,0],"space":"sram","address":4096,"page_bytes":512,"pages":2,"handoff":"link"},
{"name":"deep","kind":"fifo","site":[1,0,0],"space":"sram","page_bytes":512,"pages":8,"depth":"guaranteed"},
{"name":"sums","kind":"interm","site":[0,0,0],"space":"sram","address":8192,"page_bytes":512,"pages":2,"init":"zero","lifetime":"resident","source":[1,9]},
{"name":"upper","kind":"interm","site":[0,0,0],"space":"sram","address":8704,"page_bytes":512,"pages":1,"view":{"of":"sums","offset":512}},
{"name":"corner","kind":"scratch","site":[0,0,0],"space":"sram","page_bytes":64,"pages":1,"view":{"of":"upper","offset":64}},
{"name":"far","kind":"scratch","site":[1,0,0],"space":"dram","address":0,"page_bytes":1024,"pages":1,"tile":{"rows":8,"cols":64,"dtype":"bf16"},"lifetime":{"resident":["first","second"]}}],
"semaphores":[
{"name":"go","site":[0,0,0],"maximum":4},
{"name":"flag","site":[1,0,0],"initial":1,"maximum":8,"restart":"reset","handoff":"link"},
{"name":"near","site":[0,1,0],"maximum":1,"handoff":"noc"}],
"stages":[
{"name":"load_x","kind":"load","section":"first"},
{"name":"halve","kind":"compute","op":"scale","scale":0.1,"section":"first"},
{"name":"fetch","kind":"copy","section":"second","source":[0,2,1]},
{"name":"store_y","kind":"store","section":"second"}],
"edges":[
{"producer":"load_x","buffer":"q","consumer":"halve"},
{"producer":"halve","buffer":"across","consumer":"fetch","handoff":"link"}],
"sections":[
{"name":"first","index":4,"source":[0,1],"ops":[
{"site":[0,0,0],"engine":"load","range":[0,1]},
{"site":[0,0,0],"engine":"compute","range":[0,1]}]},
{"name":"second","index":2,"numerics":{"approx":"sums in \"bf16\""},"ops":[
{"site":[1,0,0],"engine":"load","range":[0,1]},
{"site":[1,0,0],"engine":"store","range":[1,2]},
{"site":[1,0,0],"engine":"store","range":[2,3]}]}],
"boundaries":[
{"after":"first","closed":true,"ops":[
{"site":[0,0,0],"engine":"load","range":[1,2]},
{"site":[0,0,0],"engine":"compute","range":[1,3]},
{"site":[1,0,0],"engine":"store","range":[0,1]}]},
{"after":"second","closed":false}],
"links":[
{"fifo":"across"},
{"semaphore":"flag"}],
"carried":["kv"],
"postconditions":[
{"region":{"tensor":"y","rows":[0,2]},"sum":[{"tensor":"x","rows":[4,6]},{"tensor":"kv_tail"}]},
{"region":{"buffer":"far","bytes":[0,64]},"sum":[{"buffer":"corner"},{"tensor":"x","rows":[0,2]}]}],
"slices":[
{"full":"heads","rows":24,"cols":8,"axis":"columns","dimension":"heads","stacked":true,"copies":2,"parts":[
{"tensor":"heads.0","ranges":[[0,2],[4,8]]},
{"tensor":"heads.1","ranges":[[2,6]]}]}],
"result_unspecified":false,
"source_files":["model.py","kernels.py"],
"programs":[
{"site":[1,0,0],"engine":"store","ops":[
{"await":"flag","value":3},
{"repeat":4,"ops":[
{"front":"deep","n":8},
{"run":"store_y","reads":[{"fifo":"deep","page":7,"bytes":[0,{"const":512}]}],"writes":[{"tensor":"y","rows":[{"i0":16},{"const":16,"i0":16}]}]},
{"pop":"deep","n":8}]},
{"wait":"flag"}]},
{"site":[0,0,0],"engine":"load","ops":[
{"repeat":4,"source":[0,7],"ops":[
{"reserve":"q","n":2},
{"repeat":2,"ops":[
{"run":"load_x","reads":[{"tensor":"x","rows":[{"i1":8,"i0":16},{"const":8,"i0":16,"i1":8}],"cols":[0,16]}],"writes":[{"fifo":"q","page":1,"bytes":[0,256]}],"source":[1,20,5]}]},
{"push":"q"}]},
{"post":"go"}]},
{"site":[0,0,0],"engine":"compute","ops":[
{"repeat":4,"ops":[
{"front":"q"},
{"reserve":"across"},
{"run":"halve","writes":[{"fifo":"across"},{"buffer":"sums","bytes":[0,{"const":512,"i0":64}]}],"reads":[{"fifo":"q"},{"tensor":"kv","rows":[0,1]}]},
{"push":"across"},
{"pop":"q"}]},
{"wait":"go","n":1},
{"post":"flag","n":2}]},
{"site":[1,0,0],"engine":"load","ops":[
{"repeat":4,"ops":[
{"front":"across"},
{"reserve":"deep"},
{"run":"fetch","reads":[{"fifo":"across"}],"writes":[{"fifo":"deep"},{"buffer":"far"}]},
{"push":"deep"},
{"pop":"across"}]}]}]}
)";

/// The rich program with the only occurrence of `from` replaced.
[[nodiscard]] std::string rich_with(std::string_view from, std::string_view to);

struct Expectation {
  std::string_view from;      ///< text of the rich program, occurring once
  std::string_view to;        ///< what replaces it
  std::string_view path;      ///< where the refusal must point
  std::string_view expected;  ///< what its expectation must contain
  std::string_view found;     ///< what it must say that stood there
  /// Text (of the edited program) on the line the refusal must name; empty: the line of the
  /// replacement.
  std::string_view line_of = {};
};

/// Checks that the edited program is refused at the right place for the right reason.
void check_refused(const Expectation& expectation);
/// The same for any text: refused at `path`, on `line`.
void check_refused_text(std::string_view text, std::string_view path, std::uint64_t line,
                        std::string_view expected, std::string_view found);

/// A folder of its own for the files of a test, removed afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] std::string file(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

 private:
  std::string path_;
};

}  // namespace spatialcert::ir::test
